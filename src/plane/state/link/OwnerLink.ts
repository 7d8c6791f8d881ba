/**
 * The way from a worker to the owner of the data folder: messages by topic, in order, joined to one write a turn of the event loop. Only workers have
 * it. Nothing on the way of an ordinary request waits for an answer.
 */
import * as Context from "effect/Context"

/** Stops listening. */
export type Unlisten = () => void

export class OwnerLink extends Context.Tag("gateway/plane/state/link/OwnerLink")<
  OwnerLink,
  {
    /** Hot: sends a message. Without an owner it is dropped: what must not be lost is sent again when there is one. */
    readonly send: (topic: string, body: unknown) => void
    /** Hot: asks the owner. `then` is called once, with null when there is no owner or it ends before it has answered. */
    readonly ask: (topic: string, body: unknown, then: (answer: unknown) => void) => void
    /** Calls `listener` with each message of the owner of a topic. */
    readonly listen: (topic: string, listener: (body: unknown) => void) => Unlisten
    /** Hot: checks whether an owner is there. */
    readonly isUp: () => boolean
    /** Calls `listener` when an owner is there again, and when it is gone. */
    readonly watch: (listener: (isUp: boolean) => void) => Unlisten
  }
>() {}
