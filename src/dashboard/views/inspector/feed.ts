/** The inspector's feed: what is captured while a view is shown and the page is seen. Frames are gathered and told at most twenty times a second. */
import { useEffect } from "preact/hooks"
import { type Signal, useSignal } from "@preact/signals"
import { gatewayUrl, type AnswerOf } from "../../api/client.ts"
import { inspectorFeed, type inspectorList } from "../../api/calls.generated.ts"

export type Item = AnswerOf<typeof inspectorList>["requests"][number]

interface Frame {
  readonly type: "snapshot" | "new" | "update" | "clear" | "behind"
  readonly data: unknown
}

export interface Heard {
  readonly added: (items: ReadonlyArray<Item>) => void
  readonly changed: (items: ReadonlyArray<Item>) => void
  /** The list is another one: it was forgotten, or changes were missed. */
  readonly renewed: () => void
}

export interface FeedState {
  readonly isOpen: boolean
  /** Milliseconds that the recording is behind. */
  readonly behindMs: number
}

const gatherMs = 50
const firstWaitMs = 500
const longestWaitMs = 30_000

class Feed {
  readonly #heard: Heard
  readonly #state: Signal<FeedState>
  #socket: WebSocket | null = null
  #added: Array<Item> = []
  #changed = new Map<string, Item>()
  #gathering: number | undefined
  #waiting: number | undefined
  #waitMs = firstWaitMs
  #snapshots = 0
  #isStopped = false

  constructor(heard: Heard, state: Signal<FeedState>) {
    this.#heard = heard
    this.#state = state
  }

  readonly #tell = (): void => {
    this.#gathering = undefined
    const [added, changed] = [this.#added, [...this.#changed.values()]]
    this.#added = []
    this.#changed = new Map()
    if (added.length > 0) this.#heard.added(added)
    if (changed.length > 0) this.#heard.changed(changed)
  }

  #onFrame({ data, type }: Frame): void {
    if (type === "behind") {
      this.#state.value = { isOpen: true, behindMs: (data as { readonly behindMs: number }).behindMs }
    } else if (type === "snapshot" || type === "clear") {
      // The first snapshot is what the list has asked for itself.
      if (type === "clear" || this.#snapshots++ > 0) this.#heard.renewed()
    } else {
      const item = data as Item
      if (type === "new") this.#added.push(item)
      else this.#changed.set(item.id, item)
      this.#gathering ??= globalThis.setTimeout(this.#tell, gatherMs)
    }
  }

  readonly open = (): void => {
    const url = new URL(inspectorFeed.path.slice(1), gatewayUrl)
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:"
    const socket = new WebSocket(url)
    this.#socket = socket
    socket.addEventListener("open", () => {
      this.#state.value = { isOpen: true, behindMs: 0 }
      this.#waitMs = firstWaitMs
    })
    socket.addEventListener("message", ({ data }) => this.#onFrame(JSON.parse(String(data)) as Frame))
    socket.addEventListener("close", () => {
      if (this.#isStopped) return
      this.#state.value = { isOpen: false, behindMs: 0 }
      this.#waiting = globalThis.setTimeout(this.open, this.#waitMs)
      this.#waitMs = Math.min(longestWaitMs, 2 * this.#waitMs)
    })
  }

  stop(): void {
    this.#isStopped = true
    globalThis.clearTimeout(this.#waiting)
    globalThis.clearTimeout(this.#gathering)
    const socket = this.#socket
    // One that is not open yet cannot be closed without a warning of the browser.
    if (socket?.readyState === WebSocket.CONNECTING) socket.addEventListener("open", () => socket.close())
    else socket?.close()
  }
}

export const useInspectorFeed = (heard: Heard, isWanted: boolean): Signal<FeedState> => {
  const state = useSignal<FeedState>({ isOpen: true, behindMs: 0 })
  useEffect(() => {
    let feed: Feed | null = null
    const follow = (): void => {
      const isSeen = document.visibilityState === "visible"
      if (isSeen && feed === null) {
        feed = new Feed(heard, state)
        feed.open()
      } else if (!isSeen && feed !== null) {
        feed.stop()
        feed = null
      }
    }
    const onVisibility = (): void => {
      if (document.visibilityState === "visible") heard.renewed()
      follow()
    }
    if (!isWanted) return undefined
    follow()
    document.addEventListener("visibilitychange", onVisibility)
    return () => {
      document.removeEventListener("visibilitychange", onVisibility)
      feed?.stop()
    }
  }, [heard, isWanted, state])
  return state
}
