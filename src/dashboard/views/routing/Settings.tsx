/** Settings of resilience and of routing, each saved over the version that was edited. */
import type { AnswerOf, Versioned } from "../../api/client.ts"
import {
  resilienceGet,
  resilienceUpdate,
  routingSettingsGet,
  routingSettingsUpdate
} from "../../api/calls.generated.ts"
import { queries, useAnswer } from "../../api/queries.ts"
import { EditForm } from "../../forms/EditForm.tsx"
import { useOperation } from "../../forms/useOperation.ts"
import { Answered } from "../../ui/Answered.tsx"
import { isSame } from "../../ui/merge/merge.ts"
import type { Version } from "../../ui/merge/saving.ts"
import { words } from "../../words/routingParts.ts"

const versionOf = <A,>({ answer, tag }: Versioned<A>): Version<A> => ({ value: answer, tag })

/** The members of an edit that are others than before. */
const changes = <A extends object>(value: A, base: A): Partial<A> =>
  Object.fromEntries(
    Object.entries(value).filter(([name, member]) => !isSame(member, base[name as keyof A]))
  ) as Partial<A>

interface Properties<A extends object> {
  readonly name: string
  readonly hint: string
  /** Id of the operation that changes them, and of its form. */
  readonly operation: string
  readonly load: (signal: AbortSignal) => Promise<Versioned<A>>
  readonly change: (body: Partial<A>, tag: string | undefined) => Promise<Versioned<A>>
  readonly locked?: Readonly<Record<string, string>>
}

const Settings = <A extends object>({ change, hint, load, locked, name, operation }: Properties<A>) => {
  const form = useOperation(operation)
  const settings = useAnswer({ key: ["settings", operation], ask: async (signal) => versionOf(await load(signal)) })
  return (
    <>
      <p class="quiet">{hint}</p>
      <Answered of={form} height={480}>
        {({ body }) => (
          <Answered of={settings} height={480}>
            {(version) => (
              <div class="card settings-form">
                <EditForm<A>
                  name={name}
                  schema={body ?? {}}
                  version={version}
                  shown={(current) => current as A}
                  send={async (value, tag, base) => {
                    const saved = versionOf(await change(changes(value, base), tag))
                    queries.setQueryData(["settings", operation], saved)
                    return saved
                  }}
                  {...(locked === undefined ? {} : { locked })}
                />
              </div>
            )}
          </Answered>
        )}
      </Answered>
    </>
  )
}

const locked = { "providerBreaker.local": words.resilience.local }

export const ResilienceSettings = () => (
  <Settings<AnswerOf<typeof resilienceGet>>
    name={words.resilience.name}
    hint={words.resilience.hint}
    operation="resilienceUpdate"
    load={(signal) => resilienceGet.versioned({ signal })}
    change={(body, ifMatch) => resilienceUpdate.versioned({ body, ifMatch })}
    locked={locked}
  />
)

export const RoutingSettings = () => (
  <Settings<AnswerOf<typeof routingSettingsGet>>
    name={words.settings.name}
    hint={words.settings.hint}
    operation="routingSettingsUpdate"
    load={(signal) => routingSettingsGet.versioned({ signal })}
    change={(body, ifMatch) => routingSettingsUpdate.versioned({ body, ifMatch })}
  />
)
