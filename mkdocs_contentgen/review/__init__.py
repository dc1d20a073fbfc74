"""What people do with texts: approve, compare, update and eject them."""
