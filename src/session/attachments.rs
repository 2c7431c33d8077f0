//! The files a message names: judged, asked about if they are outside the workspace or contain
//! secrets, and read. A missing file does not stop the message.

use std::borrow::Cow;

use super::expansion_stop::ExpansionStop;
use super::mcp_requests::ServerRequests;
use super::turn_scope::TurnScope;
use avocet_core::i18n::{LocalizedText, Phrase, prompt as phrases};
use avocet_core::protocol::{
    AttachmentInfo, Decision, Event, Image, Mention, Notice, PastedImage, Question,
};
use avocet_safety::{self as safety, ClearedStep, NeedsApproval, PathKind, Verdict};
use avocet_tools::attachments::{self, Attachment};

/// The maximum number of files in one message, and of images.
const MAX_FILES: usize = 20;
const MAX_IMAGES: usize = 8;

/// The files read for one message.
#[derive(Debug, Default)]
pub(super) struct ReadAttachments {
    /// The text appended to the message.
    pub blocks: Vec<Attachment>,
    /// All of the files, as shown to the user.
    pub attached: Vec<AttachmentInfo>,
    pub images: Vec<Image>,
    /// How many files were named.
    named_count: usize,
}

impl ReadAttachments {
    /// Appends a file to the message. Reports a file that cannot be read, and continues without it.
    pub async fn attach(
        &mut self,
        scope: &mut TurnScope,
        mention: &Mention,
    ) -> Result<(), ExpansionStop> {
        if self.blocks.iter().any(|block| block.attached.name == mention.as_typed()) {
            return Ok(());
        }
        self.named_count += 1;
        if self.named_count > MAX_FILES {
            if self.named_count == MAX_FILES + 1 {
                warn(scope, phrases::ATTACH_MANY.with("most", MAX_FILES)).await;
            }
            return Ok(());
        }
        let Some(mention) = resolve_mention(scope, mention) else {
            if let Some(read) = ServerRequests::of(scope).resource(mention).await? {
                match read {
                    Ok(attachments) => {
                        for attachment in attachments {
                            self.add(scope, attachment).await;
                        }
                    }
                    Err(why) => warn(scope, why).await,
                }
                return Ok(());
            }
            // `@someone` is not a file, and needs no report.
            if mention.path.contains(['/', '.']) || mention.lines.is_some() {
                warn(scope, phrases::ATTACH_MISSING.with("name", mention.as_typed())).await;
            }
            return Ok(());
        };
        match read_mention(scope, &mention).await? {
            Ok(attachment) => self.add(scope, attachment).await,
            Err(why) => warn(scope, why).await,
        }
        Ok(())
    }

    /// Appends what was read, unless it is one image too many.
    pub async fn add(&mut self, scope: &mut TurnScope, mut attachment: Attachment) {
        if let Some(image) = attachment.image.take()
            && !self.add_image(scope, image).await
        {
            return;
        }
        self.attached.push(attachment.attached.clone());
        self.blocks.push(attachment);
    }

    /// Sends an image that was pasted with the message.
    pub async fn attach_image(&mut self, scope: &mut TurnScope, pasted: PastedImage) {
        let PastedImage { name, size, image } = pasted;
        if self.add_image(scope, image).await {
            self.attached.push(AttachmentInfo { name, size, cut: false });
        }
    }

    /// False if there are too many.
    async fn add_image(&mut self, scope: &mut TurnScope, image: Image) -> bool {
        if self.images.len() == MAX_IMAGES {
            warn(scope, phrases::IMAGES_MANY.with("most", MAX_IMAGES)).await;
            return false;
        }
        self.images.push(image);
        true
    }

    /// Why the message is not sent, if the model takes no images or no documents.
    pub async fn refusal(&self, scope: &TurnScope) -> Option<LocalizedText> {
        let model = &scope.context.responder.model;
        if let Some(first) = self.attached.iter().find(|item| item.is_document()) {
            if !model.takes_documents() {
                model.learn().await;
            }
            if !model.takes_documents() {
                let say = phrases::DOCUMENTS_NOT_TAKEN.with("model", model.name());
                return Some(say.with("name", first.name.as_str()));
            }
        }
        let first = self.attached.iter().find(|item| item.is_image())?;
        if !model.takes_images() {
            model.learn().await;
        }
        if model.takes_images() {
            return None;
        }
        let say = phrases::IMAGES_NOT_TAKEN.with("model", model.name());
        Some(say.with("name", first.name.as_str()))
    }
}

/// A file inside a template: without it there is no message.
pub(super) async fn read_inserted(
    scope: &mut TurnScope,
    mention: &Mention,
) -> Result<Attachment, ExpansionStop> {
    let Some(mention) = resolve_mention(scope, mention) else {
        return Err(ExpansionStop::Unsent(
            phrases::INSERT_MISSING.with("name", mention.as_typed()),
        ));
    };
    let read = read_mention(scope, &mention).await?;
    read.map_err(|why| ExpansionStop::Unsent(phrases::NOT_SENT.with("why", why)))
}

/// A file that the user asked for.
pub(super) async fn read_file(
    scope: &mut TurnScope,
    mention: &Mention,
    masked: bool,
) -> Result<Image, ExpansionStop> {
    let missing = phrases::INSERT_MISSING.with("name", mention.path.as_str());
    let existing = resolve_mention(scope, mention);
    let mention = existing.ok_or(ExpansionStop::Unsent(missing))?;
    let cleared = clear_mention(scope, &mention).await?.map_err(ExpansionStop::Unsent)?;
    let sent = file_to_send(scope, cleared, mention.path, masked).await;
    sent.map_err(ExpansionStop::Unsent)
}

/// The file of a step as it is. Its secrets leave the machine for no chat: without them, or not at
/// all.
pub(super) async fn file_to_send(
    scope: &TurnScope,
    cleared: ClearedStep,
    name: String,
    masked: bool,
) -> Result<Image, LocalizedText> {
    let unsent = |say: Phrase| say.with("name", name.as_str());
    let named = name.clone();
    let read = tokio::task::spawn_blocking(move || attachments::read_bytes(&cleared, &named)).await;
    let bytes =
        read.unwrap_or_else(|error| Err(phrases::NOT_SENT.with("why", error.to_string())))?;
    let text = String::from_utf8_lossy(&bytes);
    let bytes = match (scope.context.redactor.mask(&text), &text) {
        (Cow::Borrowed(_), _) => bytes,
        (Cow::Owned(without), Cow::Borrowed(_)) if masked => without.into_bytes(),
        (Cow::Owned(_), Cow::Owned(_)) => return Err(unsent(phrases::FILE_NO_TEXT)),
        (Cow::Owned(_), Cow::Borrowed(_)) => return Err(unsent(phrases::FILE_SECRETS)),
    };
    Ok(attachments::as_file(&bytes))
}

async fn warn(scope: &mut TurnScope, text: LocalizedText) {
    scope.events.emit(Event::Notice(Notice::warning(text))).await;
}

/// The existing file. Chinese is written without blanks, so a path may include the words after it:
/// if there is no such file, a shorter path that ends before them counts.
fn resolve_mention(scope: &mut TurnScope, mention: &Mention) -> Option<Mention> {
    let scene = scope.policy_context();
    let there = |path: &str| {
        let real = scene.world.resolve(&scene.named_path(path, &scene.place.cwd));
        scene.world.kind(&real) != PathKind::Missing
    };
    if there(&mention.path) {
        return Some(mention.clone());
    }
    let chars: Vec<(usize, char)> = mention.path.char_indices().collect();
    let joints = chars.windows(2).rev().filter_map(|pair| match pair {
        [(_, before), (at, behind)] if before.is_ascii() && !behind.is_ascii() => Some(*at),
        _ => None,
    });
    let path = joints.filter_map(|at| mention.path.get(..at)).find(|path| there(path))?;
    Some(Mention { path: path.to_owned(), lines: None })
}

/// Judges, and asks about it if need be.
async fn clear_mention(
    scope: &mut TurnScope,
    mention: &Mention,
) -> Result<Result<ClearedStep, LocalizedText>, ExpansionStop> {
    let id = scope.next_step_id();
    let cleared = match safety::assess_mention(&id, &mention.path, scope.policy_context()) {
        Verdict::Run(cleared) => Some(cleared),
        Verdict::Ask(held) => ask_to_attach(scope, held).await?,
        Verdict::Refuse(_) => None,
    };
    Ok(cleared.ok_or_else(|| phrases::ATTACH_DECLINED.with("name", mention.as_typed())))
}

/// Judges and reads; reports a file that cannot be read, and continues.
async fn read_mention(
    scope: &mut TurnScope,
    mention: &Mention,
) -> Result<Result<Attachment, LocalizedText>, ExpansionStop> {
    let cleared = match clear_mention(scope, mention).await? {
        Ok(cleared) => cleared,
        Err(why) => return Ok(Err(why)),
    };
    let mention = mention.clone();
    let host = scope.context.tools.file_host();
    let read = move || attachments::read(&cleared, &mention, host.as_deref());
    let task = tokio::task::spawn_blocking(read);
    match task.await {
        Ok(read) => Ok(read),
        Err(error) => Ok(Err(phrases::NOT_SENT.with("why", error.to_string()))),
    }
}

async fn ask_to_attach(
    scope: &mut TurnScope,
    approval: NeedsApproval,
) -> Result<Option<ClearedStep>, ExpansionStop> {
    let judged = approval.judgement();
    let question = Question::Step(judged.question());
    let step = judged.step.clone();
    match scope.ask(question).await.ok_or(ExpansionStop::Cancelled)? {
        Decision::Approve | Decision::ApproveAll { .. } | Decision::Remember(_) => {
            Ok(Some(approval.approve()))
        }
        Decision::Edit(work) if work == step.work => Ok(Some(approval.approve())),
        Decision::Stop => Err(ExpansionStop::Stopped),
        _ => Ok(None),
    }
}
