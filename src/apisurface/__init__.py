"""The boundary between an application and a language model."""
