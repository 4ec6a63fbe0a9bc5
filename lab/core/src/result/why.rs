//! Where two contestants of a study spend their time.

/// Two contestants on one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The name of the study.
    pub study: String,
    /// The name of the workload.
    pub workload: String,
    /// What an item is called.
    pub item: String,
    /// The number of items that a call does.
    pub items: u64,
    /// The two.
    pub sides: [WhySide; 2],
}

/// A contestant, and where it spends its time. Nothing of it is drawn at random: it describes the
/// contestant as it was built.
#[derive(Clone, Debug, PartialEq)]
pub struct WhySide {
    /// Its name.
    pub name: String,
    /// What a call took, as the mean of many.
    pub call_ns: f64,
    /// The cycles of a call, if there are counters.
    pub cycles: Option<f64>,
    /// The instructions of a call, if there are counters.
    pub instructions: Option<f64>,
    /// Its hot loop.
    pub hot: Hot,
    /// What a model of the processor's ports says about the loop, or why it says nothing.
    pub model: Result<Model, String>,
}

/// Where a contestant spends its time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hot {
    /// The functions, the one with the most time first.
    pub parts: Vec<Part>,
    /// The function whose instructions follow.
    pub function: String,
    /// Whether they are a loop of it; otherwise they are all of it.
    pub is_loop: bool,
    /// The instructions.
    pub lines: Vec<Instruction>,
    /// How often the timer looked.
    pub looks: u64,
}

/// A function, and the share of the time in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name, or the file that it is part of.
    pub name: String,
    /// The share of all looks.
    pub share: f64,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Its address in the file.
    pub address: u64,
    /// Its text, as the assembler of the GNU project writes it.
    pub text: String,
    /// The share of all looks that found the contestant there.
    pub share: f64,
}

/// What a model of the processor's ports says about one pass of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The processor that it models.
    pub cpu: String,
    /// The instructions of a pass.
    pub instructions: f64,
    /// The micro-operations of a pass.
    pub micro_ops: f64,
    /// The cycles of a pass where many follow each other.
    pub cycles: f64,
}
