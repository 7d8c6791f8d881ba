/** A client in memory: what it got, and a hand on how fast it takes it and when it leaves. */
import type { ClientReply } from "../../src/plane/request/Exchange.ts"
import { Listeners } from "../../src/kernel/collections/Listeners.ts"

export interface TestReply extends ClientReply {
  readonly status: () => number | null
  readonly headers: () => ReadonlyArray<string>
  readonly text: () => string
  readonly chunks: () => ReadonlyArray<string>
  /** Null: none were sent. */
  readonly trailers: () => ReadonlyArray<string> | null
  readonly ending: () => "open" | "ended" | "cut" | "left"
  /** Makes every write from now on fill it. */
  readonly block: () => void
  /** Takes the written bytes, and takes more. */
  readonly drain: () => void
  /** Takes the written bytes; the next write fills it again. */
  readonly takeOne: () => void
  readonly leave: () => void
}

export const makeTestReply = (): TestReply => {
  const leaving = new Listeners()
  const drained = new Listeners()
  const chunks: Array<string> = []
  let status: number | null = null
  let headers: ReadonlyArray<string> = []
  let ending: "open" | "ended" | "cut" | "left" = "open"
  let trailers: ReadonlyArray<string> | null = null
  let isFull = false
  let isWaitedFor = false
  const take = (chunk: Buffer | string): void => {
    if (status === null) throw new Error("bytes before the head")
    if (chunk.length > 0) chunks.push(chunk.toString())
  }
  const drain = (): void => {
    if (!isWaitedFor) return
    isWaitedFor = false
    drained.tell()
  }
  return {
    head: (sent, list) => {
      if (status !== null) throw new Error("two heads")
      if (ending !== "open") return
      status = sent
      headers = list
    },
    write: (chunk) => {
      if (ending === "ended" || ending === "cut") throw new Error("bytes behind the end")
      if (ending === "left") return true
      if (isWaitedFor) throw new Error("bytes for a client that is full")
      take(chunk)
      isWaitedFor = isFull
      return !isFull
    },
    end: (chunk, sent) => {
      if (ending === "left") return
      if (ending !== "open") throw new Error("two ends")
      take(chunk)
      trailers = sent?.() ?? null
      ending = "ended"
    },
    cut: () => {
      if (ending === "open") ending = "cut"
    },
    onDrain: (listener) => drained.add(listener),
    onClose: (listener) => {
      if (ending !== "left") return leaving.add(listener)
      listener()
      return () => {}
    },
    isClosed: () => ending !== "open",
    status: () => status,
    headers: () => headers,
    text: () => chunks.join(""),
    chunks: () => chunks,
    trailers: () => trailers,
    ending: () => ending,
    block: () => {
      isFull = true
    },
    drain: () => {
      isFull = false
      drain()
    },
    takeOne: drain,
    leave: () => {
      if (ending !== "open") return
      ending = "left"
      leaving.tell()
    }
  }
}
