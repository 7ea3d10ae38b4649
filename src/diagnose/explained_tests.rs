//! Attributions made in code give these lines and sentences.
