/** One row of the audit log: from where, with which request, and field by field what was before and after. */
import type { AnswerOf } from "../../../api/client.ts"
import type { auditList } from "../../../api/calls.generated.ts"
import { exact, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/audit.ts"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { Table } from "../../../ui/parts/Table.tsx"

type Row = AnswerOf<typeof auditList>[number]
type Change = NonNullable<Row["details"]["changes"]>[number]

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const Value = ({ isHidden, of }: { readonly of: unknown; readonly isHidden: boolean }) => {
  if (isHidden) return <span class="quiet">{words.hidden}</span>
  return of === undefined ? <span class="quiet">{words.absent}</span> : <code>{visible(textOf(of))}</code>
}

const Differences = ({ changes }: { readonly changes: ReadonlyArray<Change> }) => (
  <Table label={words.differences} columns={words.differenceColumns}>
    {changes.map((change) => (
      <tr key={change.field}>
        <td>
          <code>{visible(change.field)}</code>
        </td>
        <td class="before">
          <Value of={change.before} isHidden={change.hidden === true} />
        </td>
        <td class="after">
          <Value of={change.after} isHidden={change.hidden === true} />
        </td>
      </tr>
    ))}
  </Table>
)

export const Detail = ({ row }: { readonly row: Row }) => {
  const { asKey, changes, code, fields, httpStatus } = row.details
  return (
    <div class="stack detail-row">
      <Facts
        rows={[
          [words.when, exact(row.timestamp)],
          [words.actor, <code>{visible(row.actor)}</code>],
          [words.address, <code>{visible(row.ip)}</code>],
          [words.answer, code === undefined ? String(httpStatus) : `${httpStatus} ${visible(code)}`],
          [words.request, <code>{visible(row.requestId)}</code>],
          ...(asKey === undefined ? [] : [[words.asKey, <code>{visible(asKey)}</code>] as const]),
          ...(fields === undefined ? [] : [[words.sent, visible(fields.join(", "))] as const])
        ]}
      />
      {changes === undefined || changes.length === 0 ? (
        <p class="quiet">{row.status === "success" ? words.noDifferences : words.nothingChanged}</p>
      ) : (
        <Differences changes={changes} />
      )}
    </div>
  )
}
