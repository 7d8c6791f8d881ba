/** Shows what asks to act as the person, and takes the answer. */
import { useEffect, useRef } from "preact/hooks"
import type { loginsLook } from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"
import { visible } from "../../ui/format.ts"
import { Time } from "../../ui/Time.tsx"
import { words } from "../../words/login.ts"

interface Properties {
  readonly asking: AnswerOf<typeof loginsLook>
  readonly name: string
  readonly isBusy: boolean
  readonly answer: (allow: boolean) => unknown
}

const fromOf = (address: string): string =>
  address === "" ? words.unknown : address === "tunnel" ? words.tunnel : visible(address)

export const Question = ({ answer, asking, isBusy, name }: Properties) => {
  const { address, machine, requestedAt, way } = asking
  const heading = useRef<HTMLHeadingElement>(null)
  // Readers of the screen hear what is asked; no button has the focus, so that none is pressed by what was typed.
  useEffect(() => heading.current?.focus(), [])
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        {words.question}
      </h2>
      <dl class="facts">
        <dt>{words.machine}</dt>
        <dd>{visible(machine)}</dd>
        <dt>{words.address}</dt>
        <dd>{fromOf(address)}</dd>
        <dt>{words.at}</dt>
        <dd>
          <Time at={requestedAt} />
        </dd>
      </dl>
      <p>{words.means(name)}</p>
      <p class="quiet">{way === "browser" ? words.browser : words.device}</p>
      <div class="buttons">
        <button type="button" class="button main-action" disabled={isBusy} onClick={() => void answer(true)}>
          {words.allow}
        </button>
        <button type="button" class="button" disabled={isBusy} onClick={() => void answer(false)}>
          {words.refuse}
        </button>
      </div>
    </>
  )
}
