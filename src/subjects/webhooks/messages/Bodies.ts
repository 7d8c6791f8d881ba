/** Notices as the bodies that chat services take, within their limits. Pure. */
import type { MessageKind } from "../entity.ts"
import { cut, discordText, slackMarkup, slackText, teamsText } from "./Escape.ts"
import { type Notice, repeatsLine, type Severity } from "./Notice.ts"

const colours: Readonly<Record<Severity, number>> = {
  good: 0x2eb886,
  info: 0x3aa3e3,
  warning: 0xdaa038,
  bad: 0xd72b3f
}

/**
 * Limits of Slack: at most 50 blocks, 10 fields in a section, 2,000 characters in a field:
 * https://docs.slack.dev/reference/block-kit/blocks/section-block
 */
const slackLimits = { text: 3_000, field: 2_000, fields: 10 }

const slack = (notice: Notice): unknown => {
  const { at, event, facts, headline, severity } = notice
  const plain = (text: string, most: number) => ({ type: "plain_text", text: cut(slackText(text), most), emoji: false })
  const fields = facts.map(([label, value]) => plain(`${label}: ${value}`, slackLimits.field))
  const repeats = repeatsLine(notice)
  const blocks = [
    ...(fields.length === 0 ? [] : [{ type: "section", fields: fields.slice(0, slackLimits.fields) }]),
    { type: "context", elements: [plain([repeats, at].filter((each) => each !== "").join(" "), slackLimits.text)] }
  ]
  return {
    text: cut(`${slackMarkup(event)}\n${slackMarkup(headline)}`, slackLimits.text),
    attachments: [{ color: `#${colours[severity].toString(16).padStart(6, "0")}`, blocks }]
  }
}

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits and its 2,000 characters of content. */
const discordLimits = { content: 2_000, name: 256, value: 1_024, fields: 25, footer: 2_048, embed: 6_000 }

const discord = (notice: Notice): unknown => {
  const { at, event, facts, headline, severity } = notice
  const footer = cut(repeatsLine(notice), discordLimits.footer)
  let left = discordLimits.embed - footer.length
  const fields = facts.slice(0, discordLimits.fields).flatMap(([label, value]) => {
    const field = {
      name: cut(discordText(label), discordLimits.name),
      value: cut(discordText(value), discordLimits.value),
      inline: true
    }
    left -= field.name.length + field.value.length
    return left < 0 ? [] : [field]
  })
  return {
    content: cut(`${event}\n${discordText(headline)}`, discordLimits.content),
    embeds: [
      { color: colours[severity], timestamp: at, fields, ...(footer === "" ? {} : { footer: { text: footer } }) }
    ],
    // The text mentions no user, whatever its content.
    allowed_mentions: { parse: [] }
  }
}

/** 28 KB: https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
const teamsLimits = { title: 1_000, value: 1_000, facts: 20 }

const teamsColours: Readonly<Record<Severity, string>> = {
  good: "good",
  info: "accent",
  warning: "warning",
  bad: "attention"
}

const teams = (notice: Notice): unknown => {
  const { at, event, facts, headline, severity } = notice
  const repeats = repeatsLine(notice)
  const text = (value: string, more: Readonly<Record<string, unknown>> = {}) => ({
    type: "TextBlock",
    text: cut(teamsText(value), teamsLimits.title),
    wrap: true,
    ...more
  })
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            text(headline, { weight: "bolder", color: teamsColours[severity] }),
            {
              type: "FactSet",
              facts: facts.slice(0, teamsLimits.facts).map(([title, value]) => ({
                title: cut(teamsText(title), teamsLimits.value),
                value: cut(teamsText(value), teamsLimits.value)
              }))
            },
            ...(repeats === "" ? [] : [text(repeats)]),
            text(`${event}, ${at}`, { isSubtle: true, size: "small" })
          ]
        }
      }
    ]
  }
}

const shapes: Readonly<Record<Exclude<MessageKind, "email">, (notice: Notice) => unknown>> = { discord, slack, teams }

export const messageBody = (kind: Exclude<MessageKind, "email">, notice: Notice): string =>
  JSON.stringify(shapes[kind](notice))

export interface MailText {
  readonly subject: string
  readonly text: string
}

/** A subject is one line; `Notice` has no control characters. */
export const mailText = (notice: Notice): MailText => {
  const { at, event, facts, headline } = notice
  const lines = [
    headline,
    "",
    ...facts.map(([label, value]) => `${label}: ${value}`),
    "",
    repeatsLine(notice),
    `${event}, ${at}`
  ]
  return { subject: cut(`Gateway: ${headline}`, 200), text: `${lines.join("\n").replaceAll(/\n{3,}/g, "\n\n")}\n` }
}
