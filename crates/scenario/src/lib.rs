//! A person's words: schema, validation, link and JSON codecs, and their resolution to plain numbers.
