package token

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"time"
)

// A GitHub App's own token is made a minute in the past, for clocks that differ, and
// may last ten minutes at most, counted by GitHub's clock.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const (
	jwtBack = time.Minute
	jwtLife = 9 * time.Minute
)

// sign makes the token by which an app says who it is: a JWT with RS256. app is its id
// or client id, key its private key as PEM.
func sign(app string, key []byte, now time.Time) (string, error) {
	private, err := parseKey(key)
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iat": now.Add(-jwtBack).Unix(), "exp": now.Add(jwtLife).Unix(), "iss": app,
	})
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + enc.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, sum[:])
	if err != nil {
		return "", errors.New("the app's private key cannot sign")
	}
	return text + "." + enc.EncodeToString(signature), nil
}

// parseKey reads an RSA key: PKCS#1, as GitHub hands it out, or PKCS#8.
func parseKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the app's private key is not PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := any.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("the app's private key is not an RSA key")
	}
	return key, nil
}
