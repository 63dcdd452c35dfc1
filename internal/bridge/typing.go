package bridge

import "time"

// TypingState is what the account is shown to do in a chat.
type TypingState string

// The states that callers may ask for.
const (
	TypingText   TypingState = "typing"
	TypingVoice  TypingState = "recording"
	TypingPaused TypingState = "paused"
)

// TypingTime is how long the account types, unless it is asked for again.
const TypingTime = 25 * time.Second
