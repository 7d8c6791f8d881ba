/**
 * One call for several clients that ask the same. Each gets the answer from its beginning, as fast as it reads, also when it comes while the
 * answer is in progress; the call goes on for as long as one of them is there. What is held for those behind is bounded: then the fast ones
 * wait for the slow ones, and one that takes nothing at all is cut.
 */
import { Listeners } from "../../kernel/collections/Listeners.ts"
import type { Timer, Timers } from "../../platform/Timers.ts"
import type { ClientReply, Trailers } from "../request/Exchange.ts"
import { makeInnerReply } from "../request/InnerReply.ts"
import { Feeder } from "./Feeder.ts"
import { HeldChunks, type Room } from "./HeldChunks.ts"
import { Members } from "./Members.ts"
import type { Recorded } from "./Recorder.ts"

export interface BroadcastOptions {
  /** An answer of more bytes cannot be joined any more, and is not recorded. */
  readonly maxBytes: number
  /** Memory budget of all answers together: while it is full, none can be joined. */
  readonly room: Room
  readonly timers: Pick<typeof Timers.Service, "after">
  /** Called once: the call has written its end, or all clients have left before it. */
  readonly over: (how: "ended" | "abandoned") => void
}

export interface Following {
  /** The headers that this client gets in place of those of the call. */
  readonly headers: (status: number, headers: ReadonlyArray<string>) => Array<string>
  /** Trailers of its own, behind an answer that has some. */
  readonly trailers: Trailers
  /**
   * Called once: all but the end has been written to it. `finish` writes the end. `hasHead`: something has been written. `rest`: the bytes
   * that `finish` writes of a successful answer; null where that is none.
   */
  readonly ready: (finish: () => void, hasHead: boolean, rest: Buffer | null) => void
  /** Called instead of `ready`: the client has left, or is cut because it took nothing. */
  readonly lost: (why: "left" | "stalled") => void
}

/** Most bytes held for clients that are behind, once the answer cannot be joined any more. */
export const maxBehindBytes = 1_048_576
/** A client that holds up the others is cut when it has taken nothing for this long. */
export const stallMs = 30_000

interface Head {
  readonly status: number
  readonly headers: ReadonlyArray<string>
}

type End =
  | { readonly isCut: false; readonly chunk: Buffer; readonly trailers: Trailers | undefined }
  | { readonly isCut: true }

const bufferOf = (chunk: Buffer | string): Buffer => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)

class Member {
  readonly reply: ClientReply
  readonly feeder: Feeder
  /** Null for the client that the call was made for: it gets the end at once. */
  readonly following: Following | null
  /** Place of the next chunk. */
  at = 0
  hasHead = false
  /** Position when it was last checked for a stall. */
  seenAt = 0
  isReady = false

  constructor(reply: ClientReply, following: Following | null, broadcast: Source) {
    this.reply = reply
    this.following = following
    this.feeder = new Feeder(reply, { next: () => broadcast.nextFor(this), dry: () => broadcast.driedUp(this) })
  }

  sendHead({ headers, status }: Head): void {
    if (this.hasHead) return
    this.hasHead = true
    this.reply.head(status, this.following === null ? [...headers] : this.following.headers(status, headers))
  }
}

/** Source of the bytes for members. */
interface Source {
  readonly nextFor: (member: Member) => Buffer | null
  readonly driedUp: (member: Member) => void
}

export class Broadcast {
  /** The client's side of the call. */
  readonly reply: ClientReply
  readonly #options: BroadcastOptions
  readonly #held: HeldChunks
  readonly #members: Members<Member>
  readonly #drained = new Listeners()
  readonly #leave: () => void
  readonly #source: Source
  #head: Head | null = null
  #end: End | null = null
  /** The call waits for the clients. */
  #isHolding = false
  #isJoinable = true
  #isAbandoned = false
  #stall: Timer | null = null

  constructor(options: BroadcastOptions) {
    this.#options = options
    this.#held = new HeldChunks(options.room)
    const waiting = makeInnerReply()
    this.#leave = waiting.leave
    this.#source = { nextFor: (member) => this.#nextFor(member), driedUp: (member) => this.#driedUp(member) }
    this.#members = new Members<Member>(
      ({ reply }) => reply,
      (member) => this.#lost(member, "left")
    )
    this.reply = {
      head: (status, headers) => this.#begin({ status, headers: headers.slice() }),
      write: (chunk) => this.#write(bufferOf(chunk)),
      end: (chunk, trailers) => this.#finish({ isCut: false, chunk: bufferOf(chunk), trailers }),
      cut: () => this.#finish({ isCut: true }),
      onDrain: (listener) => this.#drained.add(listener),
      onClose: waiting.onClose,
      isClosed: () => waiting.isClosed() || this.#end !== null
    }
  }

  /** Clients that have not got all of it. */
  get size(): number {
    return this.#members.size
  }

  /** The client that the call is made for. It gets everything as it comes. */
  lead(reply: ClientReply): void {
    this.#join(new Member(reply, null, this.#source))
  }

  /** Tells whether another client can still get all of it: it is not too large, and a client waits for it. */
  get isJoinable(): boolean {
    return this.#isJoinable && !this.#isAbandoned
  }

  /** Another client. False: it cannot be joined any more. */
  follow(reply: ClientReply, following: Following): boolean {
    if (!this.isJoinable) return false
    this.#join(new Member(reply, following, this.#source))
    return true
  }

  /** The whole answer, once it is over; null when it is not, or is too large. */
  recorded(): Recorded | null {
    const chunks = this.#isJoinable ? this.#held.whole() : null
    if (this.#end === null || this.#head === null || chunks === null) return null
    const all = this.#end.isCut || this.#end.chunk.length === 0 ? chunks : [...chunks, this.#end.chunk]
    const bytes = all.reduce((sum, { length }) => sum + length, 0)
    return { ...this.#head, chunks: all, bytes, isEnded: !this.#end.isCut }
  }

  /** Closes it for new clients, and drops the bytes that all have got. */
  close(): void {
    if (!this.#isJoinable) return
    this.#isJoinable = false
    this.#giveUpRead()
  }

  /** Ends it after a call that has died. The client that the call was made for is informed elsewhere. */
  break(): void {
    if (this.#end !== null) return
    for (const member of this.#members.all()) {
      if (member.following === null && this.#members.release(member)) member.feeder.stop()
    }
    this.#finish({ isCut: true })
  }

  #join(member: Member): void {
    this.#members.join(member)
    if (this.#isAbandoned || member.reply.isClosed()) return
    if (member.following === null && this.#head !== null) member.sendHead(this.#head)
    member.feeder.run()
  }

  #begin(head: Head): void {
    if (this.#head !== null || this.#end !== null) return
    this.#head = head
    for (const member of this.#members.all()) if (member.following === null) member.sendHead(head)
  }

  #write(chunk: Buffer): boolean {
    if (this.#end !== null || this.#isAbandoned || chunk.length === 0) return !this.#isHolding
    this.#held.add(chunk)
    const { maxBytes, room } = this.#options
    if (this.#isJoinable && (this.#held.heldBytes > maxBytes || room.isFull)) this.#isJoinable = false
    const members = this.#members.all()
    for (const member of members) member.feeder.run()
    this.#giveUpRead()
    this.#isHolding = this.#isTooFarBehind() || (members.length > 0 && members.every(({ feeder }) => !feeder.isFree))
    if (this.#isTooFarBehind()) this.#watch()
    return !this.#isHolding
  }

  #finish(end: End): void {
    if (this.#end !== null) return
    this.#end = end
    this.#drained.clear()
    for (const member of this.#members.all()) member.feeder.run()
    this.#giveUpRead()
    if (this.#isTooFarBehind()) this.#watch()
    if (!this.#isAbandoned) this.#options.over("ended")
  }

  #nextFor(member: Member): Buffer | null {
    const chunk = this.#held.at(member.at)
    if (chunk === null || this.#head === null) return null
    member.sendHead(this.#head)
    member.at += 1
    if (this.#isHolding) this.#goOn()
    return chunk
  }

  #driedUp(member: Member): void {
    if (this.#end !== null && !member.isReady) {
      member.isReady = true
      const finish = (): void => this.#finishFor(member)
      if (member.following === null) finish()
      else member.following.ready(finish, member.hasHead, this.#rest())
    }
    this.#goOn()
  }

  #finishFor(member: Member): void {
    if (this.#end === null || !this.#members.release(member)) return
    member.feeder.stop()
    if (this.#head !== null) member.sendHead(this.#head)
    if (this.#end.isCut) member.reply.cut()
    else member.reply.end(this.#end.chunk, this.#end.trailers && (member.following?.trailers ?? this.#end.trailers))
    this.#giveUpRead()
  }

  #rest(): Buffer | null {
    return this.#end === null || this.#end.isCut || this.#head?.status !== 200 ? null : this.#end.chunk
  }

  /** The clients have taken what the call waited for. */
  #goOn(): void {
    if (!this.#isHolding) return
    this.#giveUpRead()
    if (this.#isTooFarBehind()) return
    this.#isHolding = false
    this.#stall?.cancel()
    this.#stall = null
    this.#drained.tell()
  }

  #lost(member: Member, why: "left" | "stalled"): void {
    member.feeder.stop()
    member.following?.lost(why)
    if (this.#members.size > 0) {
      this.#giveUpRead()
      if (this.#members.all().some(({ feeder }) => feeder.isFree)) this.#goOn()
      return
    }
    this.#stall?.cancel()
    if (this.#end !== null || this.#isAbandoned) return
    this.#isAbandoned = true
    this.#held.clear()
    this.#options.over("abandoned")
    this.#leave()
  }

  /** Drops the bytes before the position of the client that is furthest behind. */
  #giveUpRead(): void {
    if (this.#isJoinable) return
    let first = this.#held.end
    for (const { at } of this.#members.all()) first = Math.min(first, at)
    this.#held.dropBefore(first)
  }

  #isTooFarBehind(): boolean {
    return !this.#isJoinable && this.#held.heldBytes > maxBehindBytes
  }

  #watch(): void {
    if (this.#stall !== null) return
    for (const member of this.#members.all()) member.seenAt = member.at
    this.#stall = this.#options.timers.after(stallMs, () => this.#cutStalled())
  }

  /** Cuts the clients that alone hold up the others. */
  #cutStalled(): void {
    this.#stall = null
    const members = this.#members.all()
    const others = members.some(({ feeder }) => feeder.isFree)
    for (const member of members) {
      if (!others || member.feeder.isFree || member.at !== member.seenAt) continue
      if (!this.#members.release(member)) continue
      member.reply.cut()
      this.#lost(member, "stalled")
    }
    if (this.#isTooFarBehind()) this.#watch()
  }
}
