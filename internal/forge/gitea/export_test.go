package gitea

// NoWaits makes every wait between two readings none.
func (c *Client) NoWaits() {
	c.recheck = 0
	clear(c.again)
}
