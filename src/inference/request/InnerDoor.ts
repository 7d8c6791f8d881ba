/**
 * Where requests that the gateway makes itself enter. The pipeline is what serves them, and what its own features ask may go through it, too: it is
 * attached when it is built.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Exchange } from "./Exchange.ts"

/** As `Pipeline.serve`. */
export type Serve = (exchange: Exchange, over?: () => void) => void

export class InnerDoor extends Context.Tag("gateway/inference/request/InnerDoor")<
  InnerDoor,
  {
    readonly attach: (serve: Serve) => void
    readonly serve: Serve
  }
>() {}

export const make = (): typeof InnerDoor.Service => {
  let attached: Serve | null = null
  return InnerDoor.of({
    attach: (serve) => {
      attached = serve
    },
    serve: (exchange, over) => {
      if (attached === null) throw new Error("No pipeline is there yet.")
      attached(exchange, over)
    }
  })
}

export const layer: Layer.Layer<InnerDoor> = Layer.sync(InnerDoor, make)
