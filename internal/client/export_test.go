package client

import "time"

// PollEvery sets how often the status is asked for without an event.
func (c *Client) PollEvery(d time.Duration) { c.poll = d }
