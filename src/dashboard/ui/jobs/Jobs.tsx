/** Shows what is under way in the background, in the bar: nothing when nothing runs. */
import { words } from "../../words/jobs.ts"
import { percent, visible } from "../format.ts"
import { Icon } from "../Icon.tsx"
import { type Job, shareOf } from "./jobSteps.ts"

/** Shows how far a job is. One of a single step is under way or over. */
export const JobProgress = ({ done, total }: Pick<Job, "done" | "total">) =>
  total === null || total <= 1 ? (
    <progress aria-label={words.states["running"]} />
  ) : (
    <span class="job-progress">
      <progress max={total} value={Math.min(done, total)} aria-label={words.of(done, total)} /> {words.of(done, total)}
    </span>
  )

export const Jobs = ({ known }: { readonly known: ReadonlyArray<Job> }) => {
  if (known.length === 0) return null
  const share = shareOf(known)
  return (
    <details class="jobs">
      <summary>
        <Icon name="wait" />
        <span role="status">{words.jobs(known.length)}</span>
        {share !== null && <span class="quiet">{percent(share)}</span>}
      </summary>
      <ul aria-label={words.list}>
        {known.map(({ done, id, kind, state, total }) => (
          <li key={`${kind} ${id}`}>
            <span>
              <strong>{words.kinds[kind] ?? visible(kind)}</strong> <code class="quiet">{visible(id)}</code>
            </span>
            <JobProgress done={done} total={total} />
            <span class="quiet">{words.states[state] ?? visible(state)}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
