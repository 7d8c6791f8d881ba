/** A button for what cannot be undone: it asks for the name first. */
import { opening, setting } from "../handlers.ts"
import { useSignal } from "@preact/signals"
import { Danger } from "../dialogs/Danger.tsx"

interface Properties {
  readonly verb: string
  readonly title: string
  /** Sentence that says what will happen. */
  readonly means: string
  /** Has to be typed. */
  readonly name: string
  readonly run: () => Promise<unknown>
}

export const DangerButton = ({ means, name, run, title, verb }: Properties) => {
  const isAsked = useSignal(false)
  return (
    <>
      <button type="button" class="button danger" onClick={setting(isAsked, true)}>
        {verb}
      </button>
      <Danger
        title={title}
        means={means}
        name={name}
        verb={verb}
        {...opening(isAsked)}
        run={async () => {
          await run()
        }}
      />
    </>
  )
}
