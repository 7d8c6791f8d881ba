/** Answers what must not pass: a box to try a text, which guardrails act, and what they look for. */
import { flagsList, guardrailsGet, guardrailsSet } from "../../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../../api/queries.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { Answered } from "../../../ui/Answered.tsx"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/guardrails.ts"
import { FlagRow } from "../flags/FlagRow.tsx"
import { Body } from "../parts/Body.tsx"
import { Head } from "../parts/Head.tsx"
import { Try } from "./Try.tsx"

const flagKeys: ReadonlySet<string> = new Set(words.flagKeys)
/** Members that a change replaces as a whole. */
const whole: ReadonlySet<string> = new Set(["toolPolicy", "structuredOutput"])

const Act = () => {
  const flags = useAnswer({ key: ["flags"], ask: (signal) => flagsList({ signal }) })
  return (
    <section class="card" aria-label={words.flags}>
      <h3>{words.flags}</h3>
      <Answered of={flags} height={320}>
        {({ flags: all }) => (
          <ul class="settings">
            {all
              .filter(({ key }) => flagKeys.has(key))
              .map((flag) => (
                <FlagRow key={flag.key} flag={flag} />
              ))}
          </ul>
        )}
      </Answered>
      <a href={placeOf("system/flags")}>{words.allFlags}</a>
    </section>
  )
}

const Sought = () => {
  const settings = useAnswer({ key: ["guardrails"], ask: (signal) => guardrailsGet({ signal }) })
  return (
    <section class="card stack" aria-label={words.settings}>
      <h3>{words.settings}</h3>
      <Answered of={settings} height={480}>
        {(values) => (
          <Body operation="guardrailsSet">
            {(schema) => (
              <ValuesForm
                schema={schema}
                values={values}
                whole={whole}
                stored={{ call: guardrailsGet, of: (answer) => answer as object }}
                save={async (body, ifMatch) => {
                  await guardrailsSet({ body: body as never, ifMatch })
                  await refresh("guardrails")
                }}
              />
            )}
          </Body>
        )}
      </Answered>
    </section>
  )
}

export const Guardrails = () => (
  <div class="stack">
    <Head title={words.title} hint={words.hint} />
    <Try />
    <Act />
    <Sought />
  </div>
)
