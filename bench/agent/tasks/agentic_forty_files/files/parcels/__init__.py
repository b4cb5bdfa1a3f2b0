"""Prices of parcel carriers."""
