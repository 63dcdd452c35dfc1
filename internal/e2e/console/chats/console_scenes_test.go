package chats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
)

// emptied deletes the account's chats and labels before a subtest.
func emptied(test func(t *testing.T, v Visited)) func(t *testing.T, v Visited) {
	return func(t *testing.T, v Visited) {
		v.Do(chromedp.Navigate("about:blank")) // the page of a deleted chat would ask for it
		for _, chat := range Must(v.Bridge.API.Chats(Within(t), bridge.ChatQuery{Limit: 100}))(t).Items {
			Must(0, v.Bridge.API.DeleteChat(Within(t), chat.JID, ""))(t)
		}
		for id := range Must(v.Owner.Labels(Within(t)))(t) {
			Must(0, v.Owner.DeleteLabel(Within(t), id))(t)
		}
		Eventually(t, func() error {
			labels, _ := v.Bridge.API.Labels(Within(t)) // refused if the account never had any
			if len(labels) > 0 {
				return fmt.Errorf("labels are left: %v", labels)
			}
			return nil
		})
		test(t, v)
	}
}

// The list of chats, of an account with nothing else.
func TestConsoleChats(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.SubtestAtBothSizes(t, "TheSearchBoxFindsAsOneTypes", emptied(theSearchBoxFindsAsOneTypes))
	v.SubtestAtBothSizes(t, "ARowsMenuChangesTheChat", emptied(aRowsMenuChangesTheChat))
	v.SubtestAtBothSizes(t, "TheListIsMovedThroughByArrows", emptied(theListIsMovedThroughByArrows))
	v.Subtest(t, "ChatsByKeyboard", emptied(chatsByKeyboard))
	v.Subtest(t, "NotifiesWhereAskedFor", emptied(notifiesWhereAskedFor))
	v.Subtest(t, "MarksChatsAsRead", emptied(marksChatsAsRead))
	v.SubtestAtBothSizes(t, "Labels", emptied(labels))
	v.SubtestAtBothSizes(t, "LabelsAreChanged", emptied(labelsAreChanged))
	v.SubtestAtBothSizes(t, "LabelsOfAMessage", emptied(labelsOfAMessage))
	v.Subtest(t, "OfAnImport", emptied(func(t *testing.T, v Visited) {
		for i := range 30 {
			export := client.ChatExport{Chat: fmt.Sprintf("Friends %d", i), Timezone: "UTC"}
			Must(v.Bridge.API.ImportChat(Within(t), export, strings.NewReader(fmt.Sprintf("24.12.25, 18:%02d - Olga: hello\n", i))))(t)
		}
		v.Subtest(t, "TheListKeepsItsPlaceOnAPhone", theListKeepsItsPlaceOnAPhone)
		v.Subtest(t, "AMessageLoadsAFewKilobytes", aMessageLoadsAFewKilobytes)
	}))
}

// What is done with messages and in groups.
func TestConsole_Actions(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.SubtestAtBothSizes(t, "PinsMessages", pinsMessages)
	v.Subtest(t, "OnlyAdminsPinInLockedGroups", onlyAdminsPinInLockedGroups)
	v.SubtestAtBothSizes(t, "Votes", votes)
	v.Subtest(t, "ClicksWhatChangesMeanwhile", clicksWhatChangesMeanwhile)
	v.SubtestAtBothSizes(t, "ShowsAGroupBeforeJoining", showsAGroupBeforeJoining)
	v.SubtestAtBothSizes(t, "StarsMessages", starsMessages)
	v.SubtestAtBothSizes(t, "DeletesForMe", deletesForMe)
	v.Subtest(t, "DeletesAChat", deletesAChat)
	v.Subtest(t, "TheComposerSaysWhyItIsClosed", theComposerSaysWhyItIsClosed)
	v.SubtestAtBothSizes(t, "CallsAndChangesAreLines", callsAndChangesAreLines)
	v.Subtest(t, "JoinsByAnInvitation", joinsByAnInvitation)
	v.Subtest(t, "TheMenuOfAMessage", theMenuOfAMessage)
	v.Subtest(t, "TheMenuIsASheetOnPhones", theMenuIsASheetOnPhones)
	v.Subtest(t, "ReactsWithAnyEmoji", reactsWithAnyEmoji)
	v.SubtestAtBothSizes(t, "AChatOpensInTheComposer", aChatOpensInTheComposer)
	v.Subtest(t, "TabReachesTheComposer", tabReachesTheComposer)
	v.Subtest(t, "MessagesByKeyboard", messagesByKeyboard)
	v.Subtest(t, "AChatOnADeskAndByFingers", aChatOnADeskAndByFingers)
}

// What messages show, and the place where one reads them.
func TestConsole_Messages(t *testing.T) {
	t.Parallel()
	v := Visit(t, "HISTORY_IMPORT=recent")
	v.Subtest(t, "PicturesOpenInFront", picturesOpenInFront)
	v.Subtest(t, "VoiceNotesPlay", voiceNotesPlay)
	v.SubtestAtBothSizes(t, "UnreadMessagesStandBelowALine", unreadMessagesStandBelowALine)
	v.Subtest(t, "OldMessagesAreRenewed", oldMessagesAreRenewed)
	v.Subtest(t, "DaysStickOneAtATime", daysStickOneAtATime)
	v.Subtest(t, "NothingIsWiderThanAPhone", nothingIsWiderThanAPhone)
	v.Subtest(t, "TheGalleryOfAChat", theGalleryOfAChat)
	v.Subtest(t, "ChatsLoadSmallPictures", chatsLoadSmallPictures)
	v.SubtestAtBothSizes(t, "AlbumsShowFourAndTheRest", albumsShowFourAndTheRest)
	v.SubtestAtBothSizes(t, "MessagesForThePhone", messagesForThePhone)
	v.Subtest(t, "PicturesThatArriveLateMoveNothing", picturesThatArriveLateMoveNothing)
	v.Subtest(t, "LongMessagesOpenWhereTheyAreRead", longMessagesOpenWhereTheyAreRead)
	v.Subtest(t, "LongChatsHoldFewNodes", longChatsHoldFewNodes)
	v.SubtestAtBothSizes(t, "SearchesWithinAChat", searchesWithinAChat)
	v.Subtest(t, "ThePlaceInAChatIsKept", thePlaceInAChatIsKept)
}
