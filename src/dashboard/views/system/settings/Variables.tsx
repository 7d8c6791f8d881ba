/** Variables of the environment that the program was started with. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import type { gatewaySettingsOrigins } from "../../../api/calls.generated.ts"
import { Prose } from "../../../ui/Prose.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/settings.ts"
import { Table } from "../../../ui/parts/Table.tsx"

type Variable = AnswerOf<typeof gatewaySettingsOrigins>["variables"][number]

const valueOf = ({ isSecret, source, value }: Variable): string => {
  if (isSecret) return source === "env" ? words.secretSet : words.notSet
  return value === null || value === "" ? words.notSet : value
}

export const Variables = ({
  text,
  variables
}: {
  readonly variables: ReadonlyArray<Variable>
  readonly text: string
}) => {
  const found = useMemo(() => {
    const wanted = text.toLowerCase()
    return variables.filter(({ description, name }) => `${name} ${description}`.toLowerCase().includes(wanted))
  }, [text, variables])
  return (
    <>
      <p class="quiet">
        <Prose text={words.variablesHint} />
      </p>
      <p role="status" class="quiet">
        {found.length === 0 ? words.none : words.variablesFound(found.length)}
      </p>
      {found.length > 0 && (
        <div class="card">
          <Table label={words.shows.variables} columns={words.columns}>
            {found.map((variable) => (
              <tr key={variable.name}>
                <td>
                  <code>{variable.name}</code>
                  <p class="quiet">
                    <Prose text={variable.description} />
                  </p>
                </td>
                <td>{visible(valueOf(variable))}</td>
                <td class="quiet">{visible(variable.defaultValue)}</td>
                <td>
                  <State kind={variable.source === "env" ? "trial" : "quiet"}>{words.sources[variable.source]}</State>
                </td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </>
  )
}
