/** Other tabs of the browser with this page: a login in one of them ends the waiting of all. Nothing of the session is told, only that there is one. */
import { renewToken } from "./client.ts"
import { queries } from "./queries.ts"

/** Absent where the browser has shut it off with its storage. */
const channel = (() => {
  try {
    return new BroadcastChannel("gateway-session")
  } catch {
    return null
  }
})()

channel?.addEventListener("message", () => {
  void renewToken().then((isOpen) => {
    if (isOpen) void queries.invalidateQueries()
  })
})

/** Tells the other tabs that there is a session now. */
export const tellTabs = (): void => channel?.postMessage("opened")
