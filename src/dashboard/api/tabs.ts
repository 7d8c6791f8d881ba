/** Other tabs of the browser with this page: a login in one of them ends the waiting of all. Nothing of the session is told, only that there is one. */
import { renewToken } from "./client.ts"
import { queries } from "./queries.ts"
import { learnMe } from "./rights.ts"

/** Takes the session that another tab has begun. */
const follow = async (): Promise<void> => {
  if (!(await renewToken())) return
  await learnMe()
  void queries.invalidateQueries()
}

/** Absent where the browser has shut it off with its storage. */
const channel = (() => {
  try {
    return new BroadcastChannel("gateway-session")
  } catch {
    return null
  }
})()

channel?.addEventListener("message", () => void follow())

/** Tells the other tabs that there is a session now. */
export const tellTabs = (): void => {
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin, and takes none
  channel?.postMessage("opened")
}
