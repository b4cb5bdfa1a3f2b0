"""What a parcel costs."""
