// Package told makes the file that tells a worker of its events: a JSON array,
// newest last, with the payloads of webhooks as the forge sent them.
package told
