/** Listens to an answer that its client wants to be made in the background, for what has to be known when it comes back for it. */
import type { Begun } from "../../../wire/responses/Background.ts"
import type { WireCodec } from "../../../wire/WireCodec.ts"
import type { AnswerWatch } from "./AnswerWatch.ts"

export interface BackgroundWatch {
  readonly watch: AnswerWatch
  /** The client has got no end of it. True: it goes on without. */
  readonly left: () => boolean
}

/** `note` is called once, with what is known at the end of the call. */
export const backgroundWatch = (
  watch: AnswerWatch,
  { idIn, inAnswer, inEvents }: NonNullable<WireCodec["underWay"]>,
  note: (begun: Begun) => void
): BackgroundWatch => {
  let begun: Begun | null = null
  let isNoted = false
  /** The whole answer says that it goes on; a stream that has come to its end does not. */
  let isOpenStill = false
  const record = (isOpen: boolean): void => {
    if (begun === null || isNoted) return
    isNoted = true
    note({ ...begun, isOpen })
  }
  return {
    watch: {
      ...watch,
      onSent: (bytes) => {
        watch.onSent?.(bytes)
        begun ??= inEvents(bytes)
      },
      onAnswer: (body, bytes) => {
        watch.onAnswer?.(body, bytes)
        const id = idIn(body)
        isOpenStill = inAnswer(body)?.isOpen === true
        if (id !== null) begun = { id, isOpen: isOpenStill }
      },
      isUnderWay: () => begun !== null,
      keep: () => {
        watch.keep()
        record(isOpenStill)
      }
    },
    left: () => {
      record(true)
      return begun !== null
    }
  }
}
