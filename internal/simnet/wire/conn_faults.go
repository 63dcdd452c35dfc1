package wire

import "time"

// Delay delays everything that is written from now on, batch by batch.
func (c *Conn) Delay(delay time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delay = delay
}

// CorruptFrames damages the next frames.
func (c *Conn) CorruptFrames(count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corrupt += count
}

// damagesNext reports whether to damage the next frame.
func (c *Conn) damagesNext() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.corrupt == 0 {
		return false
	}
	c.corrupt--
	return true
}

// pause waits for the configured delay before a batch.
func (c *Conn) pause() error {
	c.mu.Lock()
	delay := c.delay
	c.mu.Unlock()
	if delay <= 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

// SetFrozen makes the connection half-open, so that nothing is read or written, or ends that.
func (c *Conn) SetFrozen(frozen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen == frozen {
		return
	}
	c.frozen = frozen
	if frozen {
		c.thawed = make(chan struct{})
		return
	}
	close(c.thawed)
	c.signal()
}

// Frozen reports whether the connection is half-open.
func (c *Conn) Frozen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frozen
}

func (c *Conn) untilThawed() error {
	c.mu.Lock()
	frozen, thawed := c.frozen, c.thawed
	c.mu.Unlock()
	if !frozen {
		return nil
	}
	select {
	case <-thawed:
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}
