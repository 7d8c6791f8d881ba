/** Interrupts work when the client disconnects. */
import * as Effect from "effect/Effect"
import { ClientGone } from "../../contract/domain/Errors.ts"
import type { ClientReply } from "./Exchange.ts"

/** Interrupts `work` and fails when the client leaves before it is done. */
export const unlessDisconnected = <A, E>(
  reply: Pick<ClientReply, "onClose" | "isClosed">,
  work: Effect.Effect<A, E>
): Effect.Effect<A, E | ClientGone> => {
  const left = Effect.async<never, ClientGone>((resume) => {
    const leave = (): void => resume(Effect.fail(new ClientGone()))
    if (reply.isClosed()) return leave()
    return Effect.sync(reply.onClose(leave))
  })
  return Effect.raceFirst(work, left)
}
