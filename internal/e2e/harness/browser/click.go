package browser

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	. "bridged/internal/e2e/harness"
)

// point is the place of the window that a click on an element hits.
type point struct {
	X, Y  float64
	Touch bool // whether the page is on a touch screen
}

// findPoint is a function of an element that returns where to click it, or null if a person could not: the
// element must be inside the window, not covered, not transparent, at rest, and at least 24 pixels high and wide
// unless it is within a line of text (WCAG 2.2, 2.5.8). The label of a checkbox belongs to it. document.unseen
// says what is wrong.
const findPoint = `(one, scrolls, whole) => {
	const not = (why) => ((document.unseen = why), null);
	if (document.readyState !== "complete") return not("the page is not loaded");
	if (!one) return not("there is no such element");
	const target = (one.matches("[type=checkbox], [type=radio]") && one.labels[0]) || one;
	const box = target.getClientRects()[0];
	if (!box) return not("it is not shown");
	const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
	const isInside = box.left > -1 && box.top > -1 && box.right < innerWidth + 1 && box.bottom < innerHeight + 1;
	const top = document.elementFromPoint(x, y);
	const isWhole = isInside && [box.left + 3, x, box.right - 3].every((at) => target.contains(document.elementFromPoint(at, y)));
	if (!isWhole) {
		if (scrolls) target.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
		return not(isInside ? "it is covered, in its middle by " + top?.outerHTML.slice(0, 200) : "it is outside of the window: " + JSON.stringify(box));
	}
	const last = target.lastPoint;
	target.lastPoint = { x, y };
	if (last?.x !== x || last?.y !== y) return not("it moves");
	if (whole && !target.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return not("it is transparent");
	if (getComputedStyle(target).display !== "inline" && (box.width < 24 || box.height < 24)) return not("it is " + box.width + " x " + box.height + " pixels");
	if (!document.aimed) addEventListener("pointerdown", (event) => (document.pressed = event.target), true);
	document.aimed = target;
	delete document.pressed;
	return { X: x, Y: y, Touch: matchMedia("(pointer: coarse)").matches };
}`

// one returns an expression for the first element that matches a selector.
func one(selector string) string { return "document.querySelector(" + JsString(selector) + ")" }

// seen waits until an element can be clicked, and returns where. If it scrolls, it brings the element into the
// window. If the element need not be whole, it may be transparent until the pointer is on it.
func seen(ctx context.Context, t *chromedp.Target, element string, scrolls, whole bool) (point, error) {
	poll := chromedp.Poll[point](fmt.Sprintf("(%s)(%s, %v, %v)", findPoint, element, scrolls, whole),
		chromedp.WithPollingTimeout(TestTimeout/2), chromedp.WithPollingInterval(20*time.Millisecond))
	at, err := untilLoaded(poll)(ctx, t)
	if err != nil {
		why, unknown := chromedp.Evaluate[string]("String(document.unseen)")(ctx, t)
		if unknown != nil {
			why = unknown.Error()
		}
		err = fmt.Errorf("%s cannot be clicked: %s: %w", element, why, err)
	}
	return at, err
}

// untilLoaded repeats an action whose page is replaced by another one.
func untilLoaded[T any](action chromedp.Action[T]) chromedp.Action[T] {
	return func(ctx context.Context, t *chromedp.Target) (T, error) {
		for {
			value, err := action(ctx, t)
			if err == nil || !strings.Contains(err.Error(), "Cannot find context") && !strings.Contains(err.Error(), "navigated or closed") {
				return value, err
			}
		}
	}
}

// Clicks clicks the first element that matches a selector, with the mouse or on a phone with a finger. It
// scrolls to the element, and waits until a person can see and hit it.
func Clicks(selector string) chromedp.Action[chromedp.Void] { return ClicksIt(one(selector)) }

// missed is whether the last click hit nothing that can be clicked instead of its element, because the page moved meanwhile.
const missed = `Boolean(document.pressed?.isConnected && !document.aimed.contains(document.pressed) && !document.pressed.closest("a, button, input, label, select, summary, textarea"))`

// ClicksIt is [Clicks] for the element of a JavaScript expression. A click that missed it is repeated, as a person would.
func ClicksIt(element string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for {
			if err := click(ctx, t, element); err != nil {
				return err
			}
			if again, err := untilLoaded(chromedp.Evaluate[bool](missed))(ctx, t); err != nil || !again {
				return err
			}
		}
	})
}

// click clicks an element once, where it was when it was last looked at.
func click(ctx context.Context, t *chromedp.Target, element string) error {
	at, err := seen(ctx, t, element, true, false)
	if err != nil {
		return err
	}
	if at.Touch {
		if at, err = seen(ctx, t, element, true, true); err != nil {
			return err
		}
		return tap(ctx, at)
	}
	if err := mouse(ctx, chromedp.MouseMoved, at); err != nil {
		return err
	}
	if at, err = seen(ctx, t, element, true, true); err != nil {
		return err
	}
	_, err = chromedp.MouseClickXY(at.X, at.Y)(ctx, t)
	return err
}

// mouse sends an event of the mouse.
func mouse(ctx context.Context, kind input.DispatchMouseEventType, at point) error {
	_, err := chromedp.Call(ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y})
	return err
}

// tap touches the screen with a finger.
func tap(ctx context.Context, at point) error {
	_, err := chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: at.X, Y: at.Y}}})
	if err == nil {
		_, err = chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
	}
	return err
}

// ClickOn clicks the first element that matches a selector; see [Clicks].
func (b *Browser) ClickOn(selector string) {
	b.T.Helper()
	b.Do(Clicks(selector))
}

// ClickIt clicks the element of a JavaScript expression; see [Clicks].
func (b *Browser) ClickIt(element string) {
	b.T.Helper()
	b.Do(ClicksIt(element))
}
