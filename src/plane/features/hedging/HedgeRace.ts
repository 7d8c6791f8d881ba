/**
 * Several attempts for one client, of which one may answer. Each gets a reply of its own; the first that sends a head has
 * won, and to the others it looks as if the client had left.
 */
import { Listeners } from "../../../kernel/collections/Listeners.ts"
import type { Contender } from "../../failover/Contender.ts"
import type { ClientReply } from "../../request/Exchange.ts"

export interface HedgeRace {
  readonly enter: () => Contender
  /** The others have lost: to them it looks as if the client had left. */
  readonly won: (winner: Contender) => void
}

const nothing = (): void => {}

interface Entry {
  lost: boolean
  readonly leaving: Listeners
}

export const makeHedgeRace = (client: ClientReply): HedgeRace => {
  const entries: Array<Entry> = []
  const entryOf = new Map<Contender, Entry>()

  const wonBy = (own: Entry): void => {
    for (const other of entries) {
      if (other === own || other.lost) continue
      other.lost = true
      other.leaving.tell()
    }
  }

  const enter = (): Contender => {
    const own: Entry = { lost: false, leaving: new Listeners() }
    entries.push(own)
    const contender: Contender = {
      hasLost: () => own.lost,
      reply: {
        head: (status, headers) => {
          wonBy(own)
          client.head(status, headers)
        },
        write: (chunk) => own.lost || client.write(chunk),
        end: (chunk, trailers) => {
          if (!own.lost) client.end(chunk, trailers)
        },
        cut: () => {
          if (!own.lost) client.cut()
        },
        onDrain: (listener) => client.onDrain(listener),
        onClose: (listener) => {
          if (own.lost || client.isClosed()) {
            listener()
            return nothing
          }
          const noLongerLose = own.leaving.add(listener)
          const noLongerLeave = client.onClose(listener)
          return () => {
            noLongerLose()
            noLongerLeave()
          }
        },
        isClosed: () => own.lost || client.isClosed()
      }
    }
    entryOf.set(contender, own)
    return contender
  }
  return {
    enter,
    won: (winner) => {
      const own = entryOf.get(winner)
      if (own !== undefined) wonBy(own)
    }
  }
}
