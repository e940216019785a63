package transport

import (
	"bytes"
	"io"
	"net/http"

	"github.com/oneslot/oneslot/internal/forge"
)

// Bounds of an answer's body, as it is after decompression.
const (
	maxBody    = 32 << 20
	maxFailure = 64 << 10 // of an error's body the rest is dropped
)

// bound bounds an answer. The body of a failure is read at once, for its message; the
// token, should the forge repeat it, is taken out. done is called when nothing more
// comes, or nobody wants it.
func bound(resp *http.Response, token string, done func()) error {
	if resp.StatusCode < 400 {
		if resp.Body == http.NoBody {
			done()
			return nil
		}
		resp.Body = &bounded{ReadCloser: resp.Body, left: maxBody, done: done}
		return nil
	}
	defer done()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
	_ = resp.Body.Close()
	if err != nil {
		return err // it may have said "limit"
	}
	if token != "" {
		text = bytes.ReplaceAll(text, []byte(token), []byte("[token]"))
	}
	resp.Body = &failed{Reader: bytes.NewReader(text), text: text}
	resp.ContentLength = int64(len(text))
	return nil
}

// bounded fails when a body is too large: one that is cut off is not the answer.
type bounded struct {
	io.ReadCloser
	left int64
	done func()
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &forge.Error{Op: "read the forge's answer", Detail: "it is larger than 32 MiB"}
	}
	if err != nil {
		b.done()
	}
	return n, err
}

func (b *bounded) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// failed is the body of a failure, which can be read again by failure.
type failed struct {
	*bytes.Reader
	text []byte
}

func (f *failed) Close() error { return nil }

// failure is the body of a failed answer, whoever read it already.
func failure(resp *http.Response) []byte {
	if resp == nil {
		return nil
	}
	if f, ok := resp.Body.(*failed); ok {
		return f.text
	}
	return nil
}
