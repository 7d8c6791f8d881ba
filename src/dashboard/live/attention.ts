/** Hears, in a hidden page too, whether something needs a person. The title of its tab says how much. */
import { useEffect } from "preact/hooks"
import { queries } from "../api/queries.ts"
import { words } from "../words/shell.ts"
import { type FeedEvent, hear } from "./socket.ts"

/** Number of what needs a person, of an event of the channel; null: it does not say. */
const totalOf = ({ data }: FeedEvent): number | null => (typeof data["total"] === "number" ? data["total"] : null)

export const useAttention = (): void => {
  useEffect(() => {
    let isMissed = false
    const stop = hear("attention", (event) => {
      const total = totalOf(event)
      if (total !== null) document.title = words.tab(total)
    })
    const onSeen = (): void => {
      if (document.visibilityState === "hidden") {
        isMissed = true
        return
      }
      // What happened meanwhile was not told to a hidden page.
      if (isMissed) void queries.invalidateQueries()
      isMissed = false
    }
    document.addEventListener("visibilitychange", onSeen)
    return () => {
      document.removeEventListener("visibilitychange", onSeen)
      stop()
    }
  }, [])
}
