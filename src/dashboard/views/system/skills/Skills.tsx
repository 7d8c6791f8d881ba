/** Answers what agents can learn here: pages about the gateway's routes and commands, and where they are as files. */
import { useSignal } from "@preact/signals"
import { useLocation, useRoute } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { agentSkillsCoverage, agentSkillsGenerate, agentSkillsList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { State } from "../../../ui/State.tsx"
import { count, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/skills.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Facts } from "../../../ui/parts/Facts.tsx"
import { Head } from "../parts/Head.tsx"
import { withQuery } from "../../../ui/parts/Pages.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { SkillPage } from "./SkillPage.tsx"

type Skill = AnswerOf<typeof agentSkillsList>["skills"][number]
type Generated = AnswerOf<typeof agentSkillsGenerate>

const categories = ["", "api", "cli"] as const

const Coverage = () => {
  const coverage = useAnswer({ key: ["skills", "coverage"], ask: (signal) => agentSkillsCoverage({ signal }) })
  return (
    <Answered of={coverage} height={24}>
      {({ commands, routes, totalSkills }) => (
        <p class="quiet">{words.coverage(totalSkills, routes.have, routes.total, commands.have, commands.total)}</p>
      )}
    </Answered>
  )
}

const Report = ({ isTrial, report }: { readonly report: Generated; readonly isTrial: boolean }) => (
  <section class="card stack" aria-label={words.report} role="status">
    <State kind={report.errors.length > 0 ? "bad" : "good"}>{isTrial ? words.wouldWrite : words.written}</State>
    <Copyable text={report.folder} />
    <Facts
      rows={[
        [words.generated, count(report.generated.length)],
        [words.unchanged, count(report.unchanged.length)],
        ...(report.orphansDetected.length === 0
          ? []
          : [[words.orphans, visible(report.orphansDetected.join(", "))] as const])
      ]}
    />
    {report.errors.map(({ id, message }) => (
      <p key={id} class="problem">
        <code>{visible(id)}</code> {visible(message)}
      </p>
    ))}
  </section>
)

const Rows = ({ skills }: { readonly skills: ReadonlyArray<Skill> }) => (
  <Table label={words.title} columns={words.columns}>
    {skills.map(({ category, description, id, name }) => (
      <tr key={id}>
        <td>
          <a href={placeOf(`system/skills/${id}`)}>{visible(name)}</a>
          <br />
          <code class="quiet">{visible(id)}</code>
        </td>
        <td>{words.categories[category]}</td>
        <td class="wide-cell">{visible(description)}</td>
      </tr>
    ))}
  </Table>
)

const All = () => {
  const { path, query } = useLocation()
  const chosen = categories.find((each) => each === query["category"]) ?? ""
  const list = useAnswer({
    key: ["skills", chosen],
    ask: (signal) => agentSkillsList({ query: { category: chosen === "" ? undefined : chosen }, signal })
  })
  const report = useSignal<{ readonly answer: Generated; readonly isTrial: boolean } | null>(null)
  const { isBusy, run } = useWork(["skills"])
  const generate = (dryRun: boolean): void =>
    void run(async () => {
      report.value = { answer: await agentSkillsGenerate({ body: { dryRun } }), isTrial: dryRun }
    })
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <button type="button" class="button main-action" disabled={isBusy.value} onClick={() => generate(false)}>
          {words.write}
        </button>
        <button type="button" class="button" disabled={isBusy.value} onClick={() => generate(true)}>
          {words.tryOut}
        </button>
      </Head>
      <CopyAs call={agentSkillsGenerate} body={{}} />
      {report.value !== null && <Report report={report.value.answer} isTrial={report.value.isTrial} />}
      <Coverage />
      <nav class="areas" aria-label={words.kinds}>
        {categories.map((category) => (
          <a
            key={category}
            href={withQuery(path, query, { category })}
            aria-current={category === chosen ? "page" : undefined}
          >
            {category === "" ? words.all : words.categories[category]}
          </a>
        ))}
      </nav>
      <Answered of={list} height={480}>
        {({ skills }) => (skills.length === 0 ? <Empty text={words.none} /> : <Rows skills={skills} />)}
      </Answered>
    </div>
  )
}

export const Skills = () => {
  const { part } = useRoute().params
  return part === undefined ? <All /> : <SkillPage key={part} id={part} />
}
