//! Sentences about `/btw`.

words! { "side":
    ABOUT_COMMAND: "Ask something beside the conversation, also while it works", "顺便问一个问题，工作进行中也可以";
    OPTION_QUESTION: "the question; its answer is not part of the conversation", "问题；回答不会进入对话";
    ASKED: "Asked. The answer comes on its own.", "已提问，稍后会显示回答。";
    TITLE: "By the way: {question}", "顺便问：{question}";
    FAILED: "The side question was not answered: {why}", "顺便问的问题没有得到回答：{why}";
    NO_ANSWER: "the model wrote nothing", "模型没有写任何内容";
    COPY: "copy", "复制";
    KEEP: "put it into the input", "放入输入框";
}
