// node discord_client.cjs API TOKEN: a bot of the package discord.js, in the folder $REAL. It answers
// every message with a question and every press with the button's data: what it understands, the
// server under test says rightly.
const { createRequire } = require('node:module');

const {
  ActionRowBuilder, ButtonBuilder, ButtonStyle, Client, GatewayIntentBits, Partials,
} = createRequire(`${process.env.REAL}/client.cjs`)('discord.js');

const [, , api, token] = process.argv;
const client = new Client({
  intents: [GatewayIntentBits.DirectMessages, GatewayIntentBits.GuildMessages],
  partials: [Partials.Channel],
  rest: { api },
});

client.on('messageCreate', async (message) => {
  if (message.author.bot) return;
  const button = new ButtonBuilder().setCustomId('n1:once').setLabel('Once').setStyle(ButtonStyle.Primary);
  const components = [new ActionRowBuilder().addComponents(button)];
  await message.channel.send({ content: `you said ${message.content}`, components });
});
client.on('interactionCreate', async (interaction) => {
  if (interaction.isButton()) {
    await interaction.deferUpdate();
    await interaction.editReply({ content: `pressed ${interaction.customId}`, components: [] });
  } else if (interaction.isChatInputCommand()) {
    await interaction.deferReply();
    await interaction.editReply(`command ${interaction.commandName}`);
  }
});
client.on('error', (error) => console.error(error));
client.login(token);
