//! Expressions: hash-consed bit-vector terms, their laws and their evaluator.
