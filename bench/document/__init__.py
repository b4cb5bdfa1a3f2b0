"""Ledger → result document → bytes, and back. Pure: files are the caller's business."""

from bench.document.build import build_document
from bench.document.codec import encode_document, read_document

__all__ = ["build_document", "encode_document", "read_document"]
