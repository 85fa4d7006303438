//! Telling: findings in words, JSON and CSV.
