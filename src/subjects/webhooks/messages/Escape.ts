/** Texts of callers and providers as the chat services show them: nothing in them calls people, formats or links. Pure. */

/** Invisible character between a sign and a character that would give it a meaning. */
const nothing = "\u200B"

const withoutMentions = (text: string): string => text.replaceAll("@", `@${nothing}`)

/** https://docs.slack.dev/messaging/formatting-message-text/#escaping */
export const slackText = (text: string): string =>
  withoutMentions(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Marks of a word that Slack reads as format where a text is no plain one. */
export const slackMarkup = (text: string): string =>
  slackText(text).replaceAll(/[*_~`]/g, (sign) => `${nothing}${sign}${nothing}`)

/** https://support.discord.com/hc/en-us/articles/210298617 */
export const discordText = (text: string): string =>
  withoutMentions(text)
    .replaceAll(/[\\*_~`|>#[\]()-]/g, (sign) => `\\${sign}`)
    .replaceAll("<", `<${nothing}`)
    .replaceAll("://", `:${nothing}//`)

/** https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features */
export const teamsText = (text: string): string =>
  withoutMentions(text)
    .replaceAll(/[\\*_~`#[\]()]/g, (sign) => `\\${sign}`)
    .replaceAll("<", `<${nothing}`)

/** Cuts a text to `most` characters; an escape that is cut takes its sign along. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\\&][^;\s]{0,4}$|[\uD800-\uDBFF]$/u, "")}…`
