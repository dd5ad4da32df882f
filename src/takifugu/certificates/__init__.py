"""Certificates: a calibration proved once, in a file from which anyone can prove it again."""

from takifugu.certificates.document import Certificate
from takifugu.certificates.proving import certify, verify
from takifugu.certificates.redaction import RedactedCertificate

__all__ = ["Certificate", "RedactedCertificate", "certify", "verify"]
