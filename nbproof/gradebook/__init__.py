"""nbgrader's gradebook: the one writer, what is read of it, penalties, receipts."""
