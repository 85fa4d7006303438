//! Plotters drawings, generic over the drawing backend.
