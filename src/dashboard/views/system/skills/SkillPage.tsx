/** One skill: its page as an agent reads it, and how an agent gets it. */
import { agentSkillsGet } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { raw } from "../../../api/raw.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words as shared } from "../../../words/parts.ts"
import { words } from "../../../words/system/skills.ts"
import { Head } from "../parts/Head.tsx"

export const SkillPage = ({ id }: { readonly id: string }) => {
  const skill = useAnswer({ key: ["skills", "one", id], ask: (signal) => agentSkillsGet({ path: { id }, signal }) })
  const text = useAnswer({
    key: ["skills", "text", id],
    ask: async (signal) => (await raw(`api/agent-skills/${encodeURIComponent(id)}/raw`, { signal })).text()
  })
  return (
    <div class="stack">
      <p>
        <a href={placeOf("system/skills")}>{shared.back}</a>
      </p>
      <Answered of={skill} height={120}>
        {(answer) => (
          <>
            <Head title={visible(answer.skill.name)} hint={visible(answer.skill.description)} />
            <section class="stack">
              <h3>{words.install}</h3>
              <p class="quiet">{words.installHint}</p>
              <Copyable
                text={`mkdir -p ~/.claude/skills/${answer.skill.id} && curl -so ~/.claude/skills/${answer.skill.id}/SKILL.md '${answer.skill.rawUrl}'`}
              />
            </section>
          </>
        )}
      </Answered>
      <section class="stack">
        <h3>{words.page}</h3>
        <Answered of={text} height={480}>
          {(page) => (
            <pre class="answer tall" tabIndex={0}>
              {visible(page)}
            </pre>
          )}
        </Answered>
      </section>
    </div>
  )
}
