"""Operations that change tables."""
