/** Sends a change of a part of an object over its version, and again where only other parts were changed meanwhile. */
import { ApiError } from "../../api/ApiError.ts"

/** Times that a change is sent again. */
const mostTries = 4

/** `isUntouched` reads the object in an answer that refused: whether the part that is changed is as it was. */
export const sendOver = async <A>(
  tag: string | undefined,
  send: (ifMatch: string | undefined) => Promise<A>,
  isUntouched: (current: unknown) => boolean
): Promise<A> => {
  let ifMatch = tag
  for (let tries = 0; ; tries++) {
    try {
      return await send(ifMatch)
    } catch (failure) {
      if (!(failure instanceof ApiError) || failure.status !== 412 || tries >= mostTries) throw failure
      const { current } = (failure.answer ?? {}) as { readonly current?: unknown }
      if (current === undefined || failure.tag === null || !isUntouched(current)) throw failure
      ifMatch = failure.tag
    }
  }
}
