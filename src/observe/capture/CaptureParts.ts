/** Shared parts of all sources of capture: the destination of exchanges, and the rules they are handled by. */
import * as Context from "effect/Context"
import type { CaptureChange, CaptureThing } from "../Events.ts"
import type { CaptureSink } from "./CaptureSink.ts"

export class CaptureParts extends Context.Tag("gateway/observe/capture/CaptureParts")<
  CaptureParts,
  {
    readonly sink: CaptureSink
    /** Checks a host that is never decrypted; called for every connection, with a name or an address. */
    readonly isNeverDecrypted: (host: string) => boolean
    /** Tells whether certificates of servers are verified; called for every connection. */
    readonly verifiesServers: () => boolean
    /** PEM of an authority that is trusted besides those of Node; null for none. */
    readonly extraAuthority: () => string | null
    readonly idleTimeoutMs: number
    readonly maxBodyBytes: number
    /** Called after each change. Publishes it on the hub, and writes an audit row where no request has one of its own. */
    readonly changed: (change: CaptureChange, what: CaptureThing, automatic?: boolean) => void
  }
>() {}
