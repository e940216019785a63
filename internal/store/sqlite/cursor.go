package sqlite

import "context"

// Cursor reads what was kept under a key; empty if that is nothing. It is a small
// memory for how far somebody came, such as who reads a forge.
func (s *Store) Cursor(ctx context.Context, key string) (text string, err error) {
	_, err = s.noted(ctx, "SELECT text FROM cursor WHERE key = ?", []any{key}, &text)
	return text, err
}

// SetCursor keeps text under a key, for all processes of the store. An empty text
// drops the key. It writes only what is not so already.
func (s *Store) SetCursor(ctx context.Context, key, text string) error {
	if now, err := s.Cursor(ctx, key); err != nil || now == text {
		return err
	}
	return s.do(ctx, "note a cursor", func(t *tx) error {
		if text == "" {
			return t.exec("DELETE FROM cursor WHERE key = ?", key)
		}
		return t.exec("INSERT INTO cursor (key, text) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET text = excluded.text", key, text)
	})
}
