/** Shows one operation: what it does, and its form. */
import { useAnswer } from "../../api/queries.ts"
import { loadOperation, type OperationSummary } from "../../forms/operations.ts"
import { OperationForm } from "../../forms/OperationForm.tsx"
import { Answered } from "../../ui/Answered.tsx"
import { placeOf } from "../../ui/address/places.ts"
import { Prose } from "../../ui/Prose.tsx"
import { words } from "../../words/system.ts"

export const OperationPage = ({ summary }: { readonly summary: OperationSummary }) => {
  const operation = useAnswer({
    key: ["operation", summary.file],
    ask: (signal) => loadOperation(summary.file, signal)
  })
  return (
    <article class="stack operation">
      <p>
        <a href={placeOf("system/operations")}>{words.back}</a>
      </p>
      <h2>{summary.summary}</h2>
      <p>
        <code>
          {summary.method} {summary.path}
        </code>
      </p>
      <Answered of={operation} height={240}>
        {(whole) => (
          <>
            <p>
              <Prose text={whole.description} />
            </p>
            <OperationForm key={whole.id} operation={whole} />
          </>
        )}
      </Answered>
    </article>
  )
}
