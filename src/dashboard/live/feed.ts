/** The live feed for views: heard while a view is shown and the page is seen. */
import { useEffect } from "preact/hooks"
import { hear, type Listener } from "./socket.ts"

/** Hears a channel while a view is shown and the page is seen. */
export const useFeed = (channel: string, listener: Listener): void => {
  useEffect(() => {
    let stop: (() => void) | null = null
    const follow = (): void => {
      const isSeen = document.visibilityState === "visible"
      if (isSeen && stop === null) stop = hear(channel, listener)
      else if (!isSeen && stop !== null) {
        stop()
        stop = null
      }
    }
    follow()
    document.addEventListener("visibilitychange", follow)
    return () => {
      document.removeEventListener("visibilitychange", follow)
      stop?.()
    }
  }, [channel, listener])
}
