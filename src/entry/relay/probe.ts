/** Looks at an address before the processes that are to listen there are started. */
import * as Effect from "effect/Effect"
import { createServer } from "node:net"
import { ListenFailed, listenMessage } from "../listening/Listener.ts"

/** Finds out whether the address can be listened on, and which port is free where none was named. */
export const probe = (
  host: string,
  port: number
): Effect.Effect<{ readonly url: string; readonly port: number }, ListenFailed> =>
  Effect.async((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new ListenFailed({ message: listenMessage(error.code, host, port) })))
    )
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      const found = typeof address === "object" && address !== null ? address : null
      server.close(() => {
        if (found === null)
          return resume(Effect.fail(new ListenFailed({ message: listenMessage(undefined, host, port) })))
        const shown = found.family === "IPv6" ? `[${found.address}]` : found.address
        resume(Effect.succeed({ url: `http://${shown}:${found.port}`, port: found.port }))
      })
    })
  })
