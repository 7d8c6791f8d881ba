/** Queue of the events for one plugin. Bounded in number and in size; an event that does not fit is dropped. */
import type { HookEvent } from "./Listener.ts"

export const mostWaiting = 2_000
export const mostWaitingBytes = 16 * 1_048_576
export const batchCalls = 250

const bytesOf = ({ body, text }: HookEvent): number => text.length + (body?.length ?? 0)

export class EventLine {
  #events: Array<HookEvent> = []
  #bytes = 0

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  get hasBatch(): boolean {
    return this.#events.length >= batchCalls
  }

  /** Hot: false: it is full. */
  add(event: HookEvent): boolean {
    const bytes = bytesOf(event)
    if (this.#events.length >= mostWaiting || this.#bytes + bytes > mostWaitingBytes) return false
    this.#events.push(event)
    this.#bytes += bytes
    return true
  }

  /** The oldest, at most `batchCalls`. */
  take(): ReadonlyArray<HookEvent> {
    const batch = this.#events.splice(0, batchCalls)
    for (const event of batch) this.#bytes -= bytesOf(event)
    return batch
  }
}
