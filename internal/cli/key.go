package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oneslot/oneslot/internal/claim"
)

// keyFlags say which claim is meant and prove that it is the caller's.
type keyFlags struct {
	claim     string
	token     string
	tokenFile string
}

func (k *keyFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&k.claim, "claim", "", "the claim's `ID` (default ONESLOT_CLAIM)")
	f.StringVar(&k.token, "token", "", "its `TOKEN` (default ONESLOT_TOKEN)")
	f.StringVar(&k.tokenFile, "token-file", "", "`FILE` that holds the token")
}

// key puts the claim and its token together. A token from the environment counts
// only for the claim from the environment: it is never tried on another.
func (c *cli) key(k keyFlags) (claim.Key, error) {
	key := claim.Key{Claim: k.claim, Token: k.token}
	own := c.getenv("ONESLOT_CLAIM")
	if key.Claim == "" {
		key.Claim = own
	}
	switch {
	case key.Claim == "":
		return key, errors.New("which claim? give --claim and --token, or set ONESLOT_CLAIM and ONESLOT_TOKEN")
	case claim.SlugOf(key.Claim) == "":
		return key, fmt.Errorf("%q is not a claim's id", clean(key.Claim))
	case k.token != "" && k.tokenFile != "":
		return key, errors.New("--token and --token-file exclude each other")
	case k.tokenFile != "":
		token, err := c.readToken(k.tokenFile)
		if err != nil {
			return key, err
		}
		key.Token = token
	case k.token == "" && key.Claim == own:
		key.Token = c.getenv("ONESLOT_TOKEN")
	}
	if key.Token == "" {
		return key, errors.New("the claim's token is missing: give --token or --token-file, or set ONESLOT_TOKEN")
	}
	return key, nil
}

const tokenMax = 4096

// readToken reads a token file, and warns if others can read it too.
func (c *cli) readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	defer f.Close()
	buf := make([]byte, tokenMax+1)
	n := 0
	for n < len(buf) {
		m, err := f.Read(buf[n:])
		if n += m; err != nil || m == 0 {
			break
		}
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		c.printf(c.Err, "oneslot: warning: %s can be read by others (mode %04o); chmod 600 it\n", clean(path), info.Mode().Perm())
	}
	token := strings.TrimSpace(string(buf[:n]))
	if token == "" || n > tokenMax || strings.ContainsAny(token, " \n\t") {
		return "", fmt.Errorf("--token-file: %s does not hold one token", path)
	}
	return token, nil
}
