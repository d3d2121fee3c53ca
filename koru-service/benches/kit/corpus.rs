//! Documents of about 21 nodes: made up from a vocabulary, or cut out of real prose.

use koru_model::node::Kind;

use super::prose::{File, Piece};
use super::random::Random;
use super::words::Vocabulary;

/// The nodes of a document without its title, on average.
const BLOCKS: usize = 20;
/// How many workspaces there are, and what share of the documents each has.
pub(crate) const WORKSPACES: [usize; 5] = [50, 20, 15, 10, 5];
/// Which of them a search is limited to.
pub(crate) const ONE_WORKSPACE: usize = 1;
/// A document stands under one that is at least so many older, so that they need not be made together.
pub(crate) const PARENT_DISTANCE: usize = 2_000;

/// A node below the title.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// The place of the heading that it stands under.
    pub(crate) under: Option<usize>,
    pub(crate) done: bool,
    /// A day for `koru.due`.
    pub(crate) due: Option<String>,
    /// A run in a script without spaces that the text holds.
    pub(crate) unspaced: Option<String>,
}

impl Block {
    fn new(kind: Kind, text: String, under: Option<usize>) -> Self {
        Self { kind, text, under, done: false, due: None, unspaced: None }
    }
}

/// A document to be.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
    /// The place of its workspace in [`WORKSPACES`].
    pub(crate) workspace: usize,
    /// The number of the page that it stands under.
    pub(crate) parent: Option<usize>,
    /// Whether its title carries the tag that one document in a hundred has.
    pub(crate) is_tagged: bool,
}

/// Pages from a vocabulary, with real sentences in between as far as there are some; each of those is used once.
pub(crate) struct Generated {
    vocabulary: Vocabulary,
    random: Random,
    sentences: std::vec::IntoIter<String>,
    /// How many blocks in a thousand are real sentences.
    real: usize,
    nodes: usize,
    most: usize,
    workspaces: Vec<u8>,
}

impl Generated {
    pub(crate) fn new(seed: u64, nodes: usize, mut sentences: Vec<String>) -> Self {
        let mut random = Random::new(seed);
        random.shuffle(&mut sentences);
        Self {
            vocabulary: Vocabulary::new(seed),
            real: (sentences.len() * 1000 / nodes.max(1)).min(400),
            random,
            sentences: sentences.into_iter(),
            nodes: 0,
            most: nodes,
            workspaces: Vec::new(),
        }
    }

    fn title(&mut self) -> String {
        let words = self.random.within(2, 6);
        self.vocabulary.sentence(&mut self.random, words)
    }

    fn block(&mut self, under: Option<usize>) -> Block {
        let kind = match self.random.below(1000) {
            0..30 => Kind::Code,
            30..110 => Kind::Task,
            110..320 => Kind::Listblock,
            320..360 => Kind::Quote,
            _ => Kind::Paragraph,
        };
        if kind == Kind::Code {
            let lines = self.random.within(1, 4);
            let lines: Vec<String> =
                (0..lines).map(|_| self.vocabulary.code(&mut self.random)).collect();
            return Block::new(kind, lines.join("\n"), under);
        }
        if self.random.happens(self.real)
            && let Some(sentence) = self.sentences.next()
        {
            return Block::new(kind, sentence, under);
        }
        let words = self.random.within(3, 17);
        let mut block = Block::new(kind, self.vocabulary.sentence(&mut self.random, words), under);
        if self.random.happens(60) {
            let (run, is_unspaced) = self.vocabulary.foreign(&mut self.random);
            if self.random.happens(400) {
                block.text.clear();
            } else {
                block.text.push(' ');
            }
            block.text.push_str(&run);
            block.unspaced = is_unspaced.then_some(run);
        }
        if kind == Kind::Task {
            block.done = self.random.happens(500);
            let (month, day) = (self.random.within(1, 12), self.random.within(1, 28));
            block.due = self.random.happens(300).then(|| format!("2026-{month:02}-{day:02}"));
        }
        block
    }

    fn place(&mut self) -> (usize, Option<usize>) {
        let mut at = self.random.below(WORKSPACES.iter().sum());
        let mut workspace = 0;
        for (place, share) in WORKSPACES.iter().enumerate() {
            if at < *share {
                workspace = place;
                break;
            }
            at -= share;
        }
        let number = self.workspaces.len();
        let code = u8::try_from(workspace).unwrap_or_default();
        self.workspaces.push(code);
        if number <= PARENT_DISTANCE || !self.random.happens(400) {
            return (workspace, None);
        }
        let parent = self.random.below(number - PARENT_DISTANCE);
        (workspace, (self.workspaces.get(parent) == Some(&code)).then_some(parent))
    }
}

impl Iterator for Generated {
    type Item = Page;

    fn next(&mut self) -> Option<Page> {
        if self.nodes >= self.most {
            return None;
        }
        let title = self.title();
        let (workspace, parent) = self.place();
        let is_tagged = self.random.happens(10);
        let count = self.random.within(BLOCKS / 2, BLOCKS * 3 / 2);
        let mut blocks: Vec<Block> = Vec::with_capacity(count);
        let mut under = None;
        for place in 0..count {
            if self.random.happens(100) {
                let text = self.title();
                let above = under.filter(|_| self.random.happens(300));
                blocks.push(Block::new(Kind::Heading, text, above));
                under = Some(place);
            } else {
                let block = self.block(under);
                blocks.push(block);
            }
        }
        self.nodes += 1 + blocks.len();
        Some(Page { title, blocks, workspace, parent, is_tagged })
    }
}

/// Pages cut out of real prose: a headline begins one where the one before is long enough.
pub(crate) fn of_prose(files: &[File], nodes: usize) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let mut counted = 0;
    let mut made = 0;
    for file in files {
        if made >= nodes {
            break;
        }
        let mut open: Option<Page> = None;
        let mut under = None;
        for piece in &file.pieces {
            let held = open.as_ref().map_or(0, |page| page.blocks.len());
            let title = match piece {
                Piece::Heading(1..=2, title) if held == 0 || held >= BLOCKS / 2 => Some(title),
                _ if held >= BLOCKS * 2 => Some(&file.name),
                _ => None,
            };
            if open.is_none() || title.is_some() {
                pages.extend(open.take().filter(|page| !page.blocks.is_empty()));
                open = Some(page(title.unwrap_or(&file.name)));
                under = None;
            }
            let Some(page) = &mut open else { continue };
            match piece {
                Piece::Heading(_, text) if title != Some(text) => {
                    under = Some(page.blocks.len());
                    page.blocks.push(Block::new(Kind::Heading, text.clone(), None));
                }
                Piece::Heading(..) => {}
                Piece::Paragraph(text) => {
                    page.blocks.push(Block::new(Kind::Paragraph, text.clone(), under));
                }
                Piece::Item(text) => {
                    page.blocks.push(Block::new(Kind::Listblock, text.clone(), under));
                }
            }
        }
        pages.extend(open.filter(|page| !page.blocks.is_empty()));
        made += pages.iter().skip(counted).map(|page| 1 + page.blocks.len()).sum::<usize>();
        counted = pages.len();
    }
    pages
}

fn page(title: &str) -> Page {
    Page {
        title: title.to_owned(),
        blocks: Vec::new(),
        workspace: 0,
        parent: None,
        is_tagged: false,
    }
}
